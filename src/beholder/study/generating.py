"""The ``[[generators]]`` of a study: what makes images from prompts, by which program or service."""

import re
from typing import Annotated, Literal

from pydantic import Field, model_validator

from beholder.study.question import Settings, Words

GeneratorName = Annotated[str, Field(pattern=r"^\w[\w.+() -]*$", max_length=100)]
SECRET_HEADERS = ("authorization", "proxy-authorization", "x-api-key", "api-key", "x-key", "cookie")
"""Headers whose content is secret: it must come from the environment."""
ENVIRONMENT = re.compile(r"\$\{(\w+)\}")
"""``${NAME}``: replaced by an environment variable when a request is sent, and never recorded."""
PipelineName = Literal["sd", "sdxl", "sd3", "flux"]


class GeneratorSettings(Settings):
    """What every generator has, whatever its kind."""

    name: GeneratorName = Field(description="what tables, boards and folders call it")
    kind: str = Field(description="how it is reached: decides which of the tables below applies")
    template: str = Field(
        "{prompt}", description="the prompt as it is sent; `{prompt}` stands for the prompt itself"
    )
    width: int | None = Field(
        None, ge=1, le=16384, description="width of the images; by default that of the command"
    )
    height: int | None = Field(None, ge=1, le=16384, description="height of the images; by default the same")
    timeout: float = Field(600.0, gt=0, description="seconds after which one image counts as failed")
    give_up: int = Field(5, ge=1, description="failures in a row after which the other images are not attempted")
    cost_per_image: float | None = Field(None, ge=0, description="what an image costs")
    cost_per_hour: float | None = Field(None, ge=0, description="what an hour of generating costs")
    currency: str = Field("USD", min_length=1, description="code of the currency of both")

    @model_validator(mode="after")
    def _with_prompt(self) -> "GeneratorSettings":
        if "{prompt}" not in self.template:
            raise ValueError("template must hold {prompt}, which stands for the prompt")
        return self


class FolderGenerator(GeneratorSettings):
    """Images that exist already, with their prompts."""

    kind: Literal["folder"] = "folder"
    path: Words = Field(description="folder of images with prompts, as for `beholder new`; from the study folder")


class CommandGenerator(GeneratorSettings):
    """A command that is run once per image."""

    kind: Literal["command"] = "command"
    command: tuple[Words, ...] = Field(
        min_length=1,
        description="program and arguments; `{prompt}`, `{seed}`, `{width}`, `{height}` and `{output}`, the "
        "file to be written, are filled in; without `{output}` the image comes from stdout",
    )
    refused_code: int | None = Field(None, ge=1, le=255, description="exit code by which it declines a prompt")
    version: str = Field("", description="which version or weights it has, as you know it")


class HttpGenerator(GeneratorSettings):
    """A service that is asked over HTTP, with a request of your own."""

    kind: Literal["http"] = "http"
    url: str = Field(pattern=r"^https?://", description="address; `{prompt}` and the others are filled in")
    method: Literal["POST", "GET"] = Field("POST", description="method of the request")
    headers: tuple[Words, ...] = Field(
        (), description="headers as `Name: content`; secrets as `${VARIABLE}` of the environment"
    )
    body: str = Field("", description='JSON of the request, such as `{"prompt": "{prompt}", "seed": "{seed}"}`')
    image: str = Field(
        "raw",
        min_length=1,
        description="where the image is in the reply: `raw`, or a path such as `data.0.b64_json`",
    )
    rewritten: str = Field("", description="path in the reply to the prompt that the service used instead")
    refused_status: tuple[int, ...] = Field((), description="status codes by which it declines a prompt")
    refused_words: tuple[Words, ...] = Field(
        ("content_policy", "moderation", "safety"),
        description="words in a reply of status 400 to 499 by which it declines a prompt",
    )
    retries: int = Field(
        4, ge=0, description="after status 429, 5xx or a lost connection; waits 1, 2, 4, … s between"
    )
    per_minute: float | None = Field(None, gt=0, description="requests per minute, at most")
    concurrency: int = Field(1, ge=1, le=256, description="requests at the same time")
    version: str = Field("", description="which version it has, as you know it")

    @model_validator(mode="after")
    def _secret(self) -> "HttpGenerator":
        faults = [f"headers: '{header}' has no colon" for header in self.headers if ":" not in header]
        for header in self.headers:
            name, _, content = header.partition(":")
            if name.strip().lower() in SECRET_HEADERS and not ENVIRONMENT.search(content):
                faults.append(
                    f"headers: {name.strip()} holds a secret, which must not stand in a file: write "
                    f"'{name.strip()}: ${{MY_KEY}}' and set the environment variable MY_KEY"
                )
        if faults:
            raise ValueError("; ".join(faults))
        return self


class WorkerGenerator(GeneratorSettings):
    """A worker: a child process or a service that speaks beholder's wire protocol."""

    kind: Literal["worker"] = "worker"
    command: tuple[Words, ...] = Field((), description="program and arguments of a child process")
    url: str = Field("", pattern=r"^(https?://.*)?$", description="address of a worker that runs elsewhere")
    settings: dict[str, str | int | float | bool] = Field(
        default_factory=dict, description="sent with every request"
    )

    @model_validator(mode="after")
    def _reached(self) -> "WorkerGenerator":
        if bool(self.command) == bool(self.url):
            raise ValueError("a worker has either a command or a url")
        return self


class DiffusersGenerator(GeneratorSettings):
    """A pipeline of diffusers in a worker process; needs the extra `improve`."""

    kind: Literal["diffusers"] = "diffusers"
    model: Words = Field(description="folder of a pipeline, or its name on the hub")
    pipeline: PipelineName | None = Field(None, description="which one; by default what `model_index.json` says")
    steps: int = Field(30, ge=1, description="steps of the sampler")
    guidance: float = Field(7.5, ge=0, description="guidance scale")
    negative_prompt: str = Field("", description="what the image should not show")
    lora: str = Field("", description="folder or file of a LoRA")
    lora_scale: float = Field(1.0, description="its strength")
    dtype: Literal["float32", "float16", "bfloat16"] = Field("float32", description="precision of the weights")
    device: str = Field("", description="such as `cuda:0`; by default a GPU where there is one")


class PainterGenerator(GeneratorSettings):
    """The painter of the synthetic world, for rehearsals and tests."""

    kind: Literal["painter"] = "painter"
    policy: Words = Field("aurora", description="one of the synthetic world's generators, from best to worst")


AnyGenerator = Annotated[
    FolderGenerator | CommandGenerator | HttpGenerator | WorkerGenerator | DiffusersGenerator | PainterGenerator,
    Field(discriminator="kind"),
]
"""A generator of any kind."""

GENERATOR_KINDS: dict[str, type[GeneratorSettings]] = {
    "folder": FolderGenerator,
    "command": CommandGenerator,
    "http": HttpGenerator,
    "worker": WorkerGenerator,
    "diffusers": DiffusersGenerator,
    "painter": PainterGenerator,
}
"""Kind -> its settings."""
