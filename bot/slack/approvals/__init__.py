"""Approval cards and the decisions people make on them."""
