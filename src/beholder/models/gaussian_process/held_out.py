"""What a kernel regression says of each training image by the images of other prompts alone, in closed form."""

import torch


def leave_prompts_out(inverse: torch.Tensor, targets: torch.Tensor, prompt_of: torch.Tensor) -> torch.Tensor:
    """Predictions that are held out by prompt, without fitting anything again.

    With C the covariance of the targets y, noise included, and B the images of a prompt, the regression on all
    other images predicts y_B − (C⁻¹)_BB⁻¹ (C⁻¹ y)_B. C may contain an effect that the images of B alone have in
    common: it is not predicted.

    Args:
        inverse: C⁻¹, (n, n).
        targets: y, of mean 0, (n,) or (n, targets).
        prompt_of: Number of the prompt of each image, (n,).

    Returns:
        The predictions, of the shape of the targets.

    Example:
        >>> inverse = torch.linalg.inv(torch.tensor([[2.0, 1.0], [1.0, 2.0]]))
        >>> leave_prompts_out(inverse, torch.tensor([3.0, -1.0]), torch.tensor([0, 1]))  # ½ of the other's target
        tensor([-0.5000,  1.5000])
    """
    solved = inverse @ targets
    predicted = torch.empty_like(targets)
    for prompt in sorted(set(prompt_of.tolist())):
        images = (prompt_of == prompt).nonzero()[:, 0]
        predicted[images] = targets[images] - torch.linalg.solve(inverse[images][:, images], solved[images])
    return predicted
