"""The last step of every mechanism: X(τ) on a grid, plus discrete Laplace noise of scale τ/ε2."""

from __future__ import annotations

import math
from fractions import Fraction

from recuse.mechanism.parameters import ANSWER_GRID, Parameters
from recuse.mechanism.release import CONFIDENCE, Release
from recuse.noise import Noise, laplace_quantile


def noisy_answer(
    truncated: Fraction, tau: Fraction, slack: Fraction, constant: Fraction, parameters: Parameters, noise: Noise
) -> Release:
    """Return the release of a number of sensitivity (1 + slack)·τ, and of a public constant beside it.

    Guarantee: ε2-private for fixed τ if neighbours' `truncated` differ by at most (1 + slack)·τ
    (docs/proofs.md, lemma G2): ⌈truncated/γ⌉ with γ = τ/k' moves by at most k' + ⌈k'·slack⌉ grid steps.
    """
    step = tau / ANSWER_GRID
    sensitivity = ANSWER_GRID + math.ceil(ANSWER_GRID * slack)
    scale = sensitivity / parameters.answer_epsilon
    answer = (math.ceil(truncated / step) + noise.laplace(scale)) * step + constant
    reach = laplace_quantile(scale, CONFIDENCE) * step
    return Release(
        value=answer,
        interval=(answer - reach, answer + reach),
        noise_scale=scale * step,
        epsilon=parameters.epsilon,
        mechanism=parameters.name,
    )
