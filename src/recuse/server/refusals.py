"""What a server refuses besides questions: whom it does not know, who may not, and too much at once."""

from __future__ import annotations

from recuse.errors import RecuseError


class SignInError(RecuseError, code="sign-in"):
    """Nobody, or somebody who is not known: one text for all."""

    def __init__(self) -> None:
        super().__init__("who asks is not known", hint="a token that is live: Authorization: Bearer rcs_…")


class ForbiddenError(RecuseError, code="forbidden"):
    """Only a custodian may."""

    def __init__(self) -> None:
        super().__init__("this is for custodians")


class BusyError(RecuseError, code="busy"):
    """Too much at once; nothing was charged."""


class UnavailableError(RecuseError, code="unavailable"):
    """What is not about a person could not be done; nothing was charged."""

    def __init__(self) -> None:
        super().__init__("this could not be done now; nothing was charged", hint="try again later")


class CrossSiteError(RecuseError, code="cross-site"):
    """A browser was made to send this by a page that is not ours; nothing was done."""

    def __init__(self) -> None:
        super().__init__("this was not sent by a page of this server", hint="reload the page")
