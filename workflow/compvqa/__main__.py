from compvqa.cli import main

main()
