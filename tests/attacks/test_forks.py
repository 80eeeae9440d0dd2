"""Forked processes: children that inherit a random state draw the same noise, which then cancels."""

from __future__ import annotations


def share_noise(forking, kind: str) -> bool:
    """Return whether two children of one process draw any number alike."""
    first, second = (line.split() for line in forking("draws", kind))
    assert len(first) == len(second) == 4
    return any(one == other for one, other in zip(first, second, strict=True))


def test_children_draw_noise_of_their_own(forking):
    assert not share_noise(forking, "SECURE")


def test_the_twin_that_inherits_a_state_is_caught(forking):
    assert share_noise(forking, "INHERITED")


def test_a_ledger_that_was_opened_before_the_fork_is_refused(forking, tmp_path):
    told, spent = forking("inherited", tmp_path)
    assert "opened in another process" in told
    assert spent == "1/2"
