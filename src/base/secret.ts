import { inspect } from 'node:util';

const HIDDEN = '[secret]';

/**
 * A key, token or passphrase in memory. It cannot be printed by accident: interpolation, `console.log` and
 * `util.inspect` give `[secret]`, and JSON throws. Only `reveal()` gives the text, at the boundary: the
 * request body, the cipher, the keychain. JavaScript strings cannot be wiped: a core dump still has the
 * secret.
 */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Never pass the result to a log, an error, a journal entry or an argument list. */
  reveal(): string {
    return this.#text;
  }

  /** Length in UTF-16 units, as the service counts `min_encryption_key_length` for ASCII keys. */
  get length(): number {
    return this.#text.length;
  }

  equals(other: Secret): boolean {
    return this.#text === other.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  /** Throws: a secret that reaches a serialiser is a bug, which a silent `[secret]` would hide. */
  toJSON(): never {
    throw new TypeError('a secret cannot be serialised');
  }

  [Symbol.toPrimitive](): string {
    return HIDDEN;
  }

  [inspect.custom](): string {
    return HIDDEN;
  }
}
