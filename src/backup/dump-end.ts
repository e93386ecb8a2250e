/** The lines with which a dump in SQL begins, and the one that its program writes last of all. */
const DUMPS = [
  { begins: '-- PostgreSQL database dump', ends: '-- PostgreSQL database dump complete' },
  { begins: '-- PostgreSQL database cluster dump', ends: '-- PostgreSQL database cluster dump complete' },
  { begins: '-- MySQL dump ', ends: '-- Dump completed' },
  { begins: '-- MariaDB dump ', ends: '-- Dump completed' },
] as const;

/** The first line may be a warning that the program printed, or a comment for the client. */
const HEAD = 512;

/** Longer than each of the lines, with its line end. */
const SEAM = 64;

/**
 * Reads a text piece by piece and tells whether it is a dump in SQL that was cut: a dump says at its end that
 * it is complete, and so does each one where several follow each other. Memory is constant.
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

  /** What is wrong, in words; undefined for a whole dump and for whatever is no dump. */
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

  /** The line that came last decides: the beginning of a dump or its end. */
  #look({ begins, ends }: (typeof DUMPS)[number], bytes: Uint8Array): void {
    const text = Buffer.concat([this.#seam, bytes]);
    const begin = text.lastIndexOf(`\n${begins}`);
    const end = text.lastIndexOf(`\n${ends}`);
    // The end of one kind begins as its beginning does.
    if (begin >= 0 || end >= 0) this.#isOpen = end < begin;
    this.#seam = Buffer.from(text.subarray(-SEAM));
  }
}
