/** One of the things that are wrong with a file, at its place. */
export interface ProblemInFile {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
  /** What it is about, such as `instances.orders.url`; empty for the file as a whole. */
  readonly key: string;
  /** Lower case, without a stop. Never repeats a value that may be secret. */
  readonly message: string;
}

/**
 * The same in one line as compilers write it, `PATH:LINE:COLUMN: KEY: MESSAGE`; editors find the place by it.
 */
export function problemLine({ path, line, column, key, message }: ProblemInFile): string {
  return `${path}:${line}:${column}: ${key === '' ? '' : `${key}: `}${message}`;
}
