"""Agent Skills: procedures of the operator, as folders of the open standard, which the model loads."""
