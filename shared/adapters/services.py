"""What is asked of the services, operation by operation, in the words and shapes of their documentation. Blocking.

Everything raises `ServiceFault`. Answers hold no metadata; an attribute's bytes (`B`) are base64 in them, so that only
those that somebody wants are decoded.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final, cast

from shared.adapters.service_client import Service, ServiceClient
from shared.adapters.service_faults import NotAnAnswer
from shared.domain.identifiers import new_nonce

if TYPE_CHECKING:
    from typing import Unpack

    from mypy_boto3_dynamodb import type_defs as of_dynamodb
    from mypy_boto3_kms import type_defs as of_kms
    from mypy_boto3_secretsmanager import type_defs as of_secrets

DYNAMODB: Final = Service("dynamodb", target="DynamoDB_20120810", json_version="1.0")
KMS: Final = Service("kms", target="TrentService", json_version="1.1")
SECRETS_MANAGER: Final = Service("secretsmanager", target="secretsmanager", json_version="1.1")


class DynamoDBClient:
    def __init__(self, service: ServiceClient) -> None:
        self._call = service.call

    def get_item(self, **request: Unpack[of_dynamodb.GetItemInputTypeDef]) -> of_dynamodb.GetItemOutputTypeDef:
        return cast("of_dynamodb.GetItemOutputTypeDef", self._call("GetItem", request))

    def query(self, **request: Unpack[of_dynamodb.QueryInputTypeDef]) -> of_dynamodb.QueryOutputTypeDef:
        return cast("of_dynamodb.QueryOutputTypeDef", self._call("Query", request))

    def batch_get_item(
        self, **request: Unpack[of_dynamodb.BatchGetItemInputTypeDef]
    ) -> of_dynamodb.BatchGetItemOutputTypeDef:
        return cast("of_dynamodb.BatchGetItemOutputTypeDef", self._call("BatchGetItem", request))

    def put_item(self, **request: Unpack[of_dynamodb.PutItemInputTypeDef]) -> of_dynamodb.PutItemOutputTypeDef:
        return cast("of_dynamodb.PutItemOutputTypeDef", self._call("PutItem", request))

    def update_item(self, **request: Unpack[of_dynamodb.UpdateItemInputTypeDef]) -> of_dynamodb.UpdateItemOutputTypeDef:
        return cast("of_dynamodb.UpdateItemOutputTypeDef", self._call("UpdateItem", request))

    def delete_item(self, **request: Unpack[of_dynamodb.DeleteItemInputTypeDef]) -> of_dynamodb.DeleteItemOutputTypeDef:
        return cast("of_dynamodb.DeleteItemOutputTypeDef", self._call("DeleteItem", request))

    def batch_write_item(
        self, **request: Unpack[of_dynamodb.BatchWriteItemInputTypeDef]
    ) -> of_dynamodb.BatchWriteItemOutputTypeDef:
        return cast("of_dynamodb.BatchWriteItemOutputTypeDef", self._call("BatchWriteItem", request))

    def transact_write_items(
        self, **request: Unpack[of_dynamodb.TransactWriteItemsInputTypeDef]
    ) -> of_dynamodb.TransactWriteItemsOutputTypeDef:
        """Written once, also when the call is sent again because its answer was lost, and once for each token where the
        request brings its own.
        """
        once = {"ClientRequestToken": new_nonce(), **request}
        return cast("of_dynamodb.TransactWriteItemsOutputTypeDef", self._call("TransactWriteItems", once))


class KMSClient:
    def __init__(self, service: ServiceClient) -> None:
        self._call = service.call

    def encrypt(self, **request: Unpack[of_kms.EncryptRequestTypeDef]) -> of_kms.EncryptResponseTypeDef:
        answer = self._call("Encrypt", request)
        return cast("of_kms.EncryptResponseTypeDef", _with_bytes(answer, "CiphertextBlob"))

    def decrypt(self, **request: Unpack[of_kms.DecryptRequestTypeDef]) -> of_kms.DecryptResponseTypeDef:
        return cast("of_kms.DecryptResponseTypeDef", _with_bytes(self._call("Decrypt", request), "Plaintext"))


class SecretsManagerClient:
    def __init__(self, service: ServiceClient) -> None:
        self._call = service.call

    def get_secret_value(
        self, **request: Unpack[of_secrets.GetSecretValueRequestTypeDef]
    ) -> of_secrets.GetSecretValueResponseTypeDef:
        """`SecretString` is all that is read of it here."""
        return cast("of_secrets.GetSecretValueResponseTypeDef", self._call("GetSecretValue", request))


def _with_bytes(answer: dict[str, Any], name: str) -> dict[str, Any]:
    try:
        return {**answer, name: base64.b64decode(answer[name], validate=True)}
    except (KeyError, TypeError, ValueError):
        raise NotAnAnswer("no bytes") from None
