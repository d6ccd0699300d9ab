"""Questions put to vision-language models in words and pictures, and what their replies mean; knows no engine."""
