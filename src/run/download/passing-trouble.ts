/** Trouble of a transfer that another try may not meet: a cut, a stall, a busy server. */
export class PassingTrouble extends Error {
  /** How long the server asks us to wait, milliseconds. */
  readonly wait: number | undefined;

  constructor(message: string, wait?: number) {
    super(message);
    this.name = 'PassingTrouble';
    this.wait = wait;
  }
}
