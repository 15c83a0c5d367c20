"""The stack's name, for those who must not start Node to know it."""

STACK_NAME = "KnowledgeGateway"
