"""The files to deploy the server with: what they say of commands, paths and ports is so."""

import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from tests.loose_modules import load_module

from beholder.cli.collect import collect
from beholder.collect.routes import pages

ROOT = Path(__file__).parents[1]
COMPOSE = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text(encoding="utf-8"))
MANIFESTS = list(yaml.safe_load_all((ROOT / "deploy/kubernetes/server.yaml").read_text(encoding="utf-8")))
SERVERS = ("first", "second")


def manifest(kind: str) -> dict[str, Any]:
    (one,) = [each for each in MANIFESTS if each["kind"] == kind]
    return dict(one)


def container() -> dict[str, Any]:
    (one,) = manifest("Deployment")["spec"]["template"]["spec"]["containers"]
    return dict(one)


@pytest.mark.parametrize(
    "arguments",
    [*(COMPOSE["services"][name]["command"] for name in SERVERS), container()["args"]],
    ids=[*SERVERS, "kubernetes"],
)
def test_the_command_is_one_that_beholder_takes(arguments: list[str]) -> None:
    name, *rest = arguments
    context = collect.make_context("collect", list(rest))
    assert name == "collect"
    assert context.params["processes"] == 4
    assert context.params["host"] == "0.0.0.0"
    assert context.params["metrics"] == "0.0.0.0:9090"
    assert context.params["drain"] > 0


def test_hosts_have_time_to_drain_and_to_write_their_tables() -> None:
    spec = manifest("Deployment")["spec"]["template"]["spec"]
    drain = collect.make_context("collect", container()["args"][1:]).params["drain"]
    assert spec["terminationGracePeriodSeconds"] > drain + 10
    for name in SERVERS:
        service = COMPOSE["services"][name]
        drain = collect.make_context("collect", service["command"][1:]).params["drain"]
        assert int(service["stop_grace_period"].removesuffix("s")) > drain + 10


def test_probes_ask_for_paths_that_the_server_has() -> None:
    probed = {container()[probe]["httpGet"]["path"] for probe in ("readinessProbe", "livenessProbe")}
    assert probed == {"/api/ready", "/api/health"}
    assert probed <= {getattr(route, "path", "") for route in pages.router.routes}


def test_the_balancer_knows_the_hosts_and_ports() -> None:
    written = (ROOT / "deploy/nginx.conf").read_text(encoding="utf-8")
    hosts = set(re.findall(r"server (\w+):(\d+)", written))
    assert hosts == {(name, "8000") for name in SERVERS}
    assert re.search(r"listen (\d+);", written).group(1) == "8080"  # type: ignore[union-attr]
    assert COMPOSE["services"]["balancer"]["ports"] == ["8080:8080"]
    assert "non_idempotent" in written  # else an answer would not be sent to the other host


def test_selectors_and_ports_of_the_manifests_fit_together() -> None:
    labels = manifest("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert manifest("Service")["spec"]["selector"] == labels
    assert manifest("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == labels
    ports = {port["name"]: port["containerPort"] for port in container()["ports"]}
    assert ports == {"pages": 8000, "metrics": 9090}
    (port,) = manifest("Service")["spec"]["ports"]
    assert port["targetPort"] == "pages"


@pytest.fixture(scope="module")
def clean_root() -> ModuleType:
    """What takes the steps of the Dockerfile where no container can be built."""
    return load_module(ROOT / "benchmarks" / "clean_root.py")


def test_the_steps_of_the_dockerfile_are_taken_in_a_clean_root(clean_root: ModuleType) -> None:
    steps = clean_root.instructions(ROOT / "Dockerfile")
    assert {name for name, _ in steps} <= set(clean_root.KNOWN)
    said = dict(steps)
    assert "beholder[scale] @ file://$wheel" in said["RUN"]  # of the last one
    program, arguments = json.loads(said["ENTRYPOINT"]), json.loads(said["CMD"])
    assert (program, arguments[0]) == (["beholder"], "collect")
    parameters = collect.make_context("collect", arguments[1:]).params
    assert (str(parameters["folder"]), parameters["port"]) == (said["VOLUME"], int(said["EXPOSE"]))
    check = json.loads(said["HEALTHCHECK"].partition("CMD ")[2])
    assert check[0] == "python"
    (path,) = re.findall(r"http://127\.0\.0\.1:8000(/\S+)'", check[2])
    assert path in {getattr(route, "path", "") for route in pages.router.routes}


def test_a_dockerfile_is_read_as_it_is_written(clean_root: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "Dockerfile"
    file.write_text("# why\nFROM a AS b\n\nRUN one \\\n && two\nUSER c\n", encoding="utf-8")
    assert clean_root.instructions(file) == [("FROM", "a AS b"), ("RUN", "one   && two"), ("USER", "c")]


def test_passwords_are_not_in_the_files() -> None:
    for name in SERVERS:
        assert "${POSTGRES_PASSWORD:?" in COMPOSE["services"][name]["environment"]["BEHOLDER_DATABASE"]
    (database,) = [each for each in container()["env"] if each["name"] == "BEHOLDER_DATABASE"]
    assert "secretKeyRef" in database["valueFrom"]
