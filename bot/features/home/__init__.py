"""The Home tab: sections of features between what a person can ask and what admins see."""
