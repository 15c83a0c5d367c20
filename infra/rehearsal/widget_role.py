"""Tries the widget function's own credentials on everything that it must not reach."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import boto3

from infra.functions import INTERNAL, PUBLIC
from infra.rehearsal import trial
from infra.rehearsal.steps import Failed
from infra.rehearsal.trial_calls import Call, Sealed, allowed, as_event, forbidden
from shared.domain.exposure import ExposureProfile

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

# How the services say that it is the caller who may not. Nothing else counts as a refusal.
_REFUSALS = frozenset({"AccessDeniedException", "AccessDenied"})


class WidgetRole:
    """This process is the operator, who makes every call too, so that no refusal can come from a malformed call."""

    def __init__(self, outputs: Mapping[str, str]) -> None:
        self._outputs = outputs
        sealed = {PUBLIC: self._seal("KeyPublicArn", PUBLIC), INTERNAL: self._seal("KeyInternalArn", INTERNAL)}
        self.allowed = allowed(outputs, sealed[PUBLIC])
        self.forbidden = forbidden(outputs, public=sealed[PUBLIC], internal=sealed[INTERNAL])

    def try_as_operator(self) -> None:
        """Raises `Failed` when a call fails for the operator."""
        calls = [*self.forbidden, *self.allowed]
        for call, outcome in zip(calls, trial.outcomes(as_event(calls), boto3.client), strict=True):
            if outcome != trial.OK:
                raise Failed(f"{call} does not even work for the operator: {outcome}")

    def try_as_widget(self) -> str:
        """Replaces the widget function's code by the trial. Raises `Failed` when it may too much or too little.

        Returns the version of Python that ran it.
        """
        functions = boto3.client("lambda")
        self._replace_code(functions)
        calls = [*self.allowed, *self.forbidden]
        python, outcomes = self._run(functions, calls)
        wrong = [
            f"{call}: {outcome}"
            for call, outcome in zip(calls, outcomes, strict=True)
            if (outcome != trial.OK if call in self.allowed else outcome not in _REFUSALS)
        ]
        if wrong:
            raise Failed("The widget's credentials may too much or too little:\n  " + "\n  ".join(wrong))
        return python

    def _seal(self, output: str, exposure: ExposureProfile) -> Sealed:
        key_arn = self._outputs[output]
        context = {"exposure": str(exposure), "id": "rehearsal", "purpose": "signing"}
        answer = boto3.client("kms").encrypt(KeyId=key_arn, Plaintext=b"rehearsal", EncryptionContext=context)
        return Sealed(key_arn=key_arn, ciphertext=answer["CiphertextBlob"], context=context)

    def _run(self, functions: LambdaClient, calls: list[Call]) -> tuple[str, list[str]]:
        answer = functions.invoke(FunctionName=self._widget, Payload=json.dumps(as_event(calls)))
        said: Any = json.load(answer["Payload"])
        if answer.get("FunctionError") or "outcomes" not in said:
            raise Failed(f"The trial did not run in the widget function: {said}")
        return said["python"], said["outcomes"]

    @property
    def _widget(self) -> str:
        return self._outputs["FunctionWidgetName"]

    def _replace_code(self, functions: LambdaClient) -> None:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("trial.py", Path(trial.__file__).read_text())
        functions.update_function_code(FunctionName=self._widget, ZipFile=packed.getvalue())
        functions.get_waiter("function_updated_v2").wait(FunctionName=self._widget)
        functions.update_function_configuration(FunctionName=self._widget, Handler="trial.handler")
        functions.get_waiter("function_updated_v2").wait(FunctionName=self._widget)
