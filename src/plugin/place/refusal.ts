// Something cannot or must not be done. The message is a sentence for the user that says why and what to do.

export class Refusal extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Refusal";
  }
}
