/** The first line of an SQL dump, and the one that its program writes at the very end. */
const DUMPS = [
  { begins: '-- PostgreSQL database dump', ends: '-- PostgreSQL database dump complete' },
  { begins: '-- PostgreSQL database cluster dump', ends: '-- PostgreSQL database cluster dump complete' },
  { begins: '-- MySQL dump ', ends: '-- Dump completed' },
  { begins: '-- MariaDB dump ', ends: '-- Dump completed' },
] as const;

/** The first line may be a warning that the program printed, or a comment for the client. */
const HEAD = 512;

/** Longer than each of the lines, including its line end. */
const SEAM = 64;

/**
 * Reads a text piece by piece and detects a truncated SQL dump: a complete dump says so at its end, and so
 * does each of several in a row. Memory is constant.
 */
export class DumpEnd {
  #head: Buffer | undefined = Buffer.alloc(0);
  #kind: (typeof DUMPS)[number] | undefined;
  #isOpen = true;
  #seam = Buffer.alloc(0);

  write(bytes: Uint8Array): void {
    if (this.#head === undefined) {
      if (this.#kind !== undefined) this.#look(this.#kind, bytes);
      return;
    }
    this.#head = Buffer.concat([this.#head, bytes]);
    if (this.#head.length >= HEAD) this.#recognise(this.#head);
  }

  /** The problem in words; undefined for a whole dump and for anything that is not a dump. */
  end(): string | undefined {
    if (this.#head !== undefined) this.#recognise(this.#head);
    if (this.#kind === undefined || !this.#isOpen) return undefined;
    return `the dump inside ends early: its last line is not "${this.#kind.ends}"`;
  }

  #recognise(head: Buffer): void {
    this.#head = undefined;
    const lines = head.toString('latin1', 0, HEAD).split('\n');
    for (const line of lines) {
      const text = line.replace(/\r$/u, '');
      this.#kind ??= DUMPS.find(({ begins }) =>
        begins.endsWith(' ') ? text.startsWith(begins) : text === begins,
      );
    }
    if (this.#kind !== undefined) this.#look(this.#kind, head);
  }

  /** The last such line decides: the beginning of a dump or its end. */
  #look({ begins, ends }: (typeof DUMPS)[number], bytes: Uint8Array): void {
    const text = Buffer.concat([this.#seam, bytes]);
    const begin = text.lastIndexOf(`\n${begins}`);
    const end = text.lastIndexOf(`\n${ends}`);
    // The end line of one kind starts with its beginning line.
    if (begin >= 0 || end >= 0) this.#isOpen = end < begin;
    this.#seam = Buffer.from(text.subarray(-SEAM));
  }
}
