// A command line that cannot be used, and what can be done instead. The program prints the sentence and exits with 2.

export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UsageError";
  }
}
