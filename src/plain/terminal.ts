/** `env` says what the streams can do. */
export interface Streams {
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export type OutputStream = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/**
 * Not without a terminal on both sides, on a dumb one, or with a screen reader: lines that appear once and
 * stay are easier to follow than a screen that changes under the reader.
 */
export function canDraw(streams: Pick<Streams, 'stdin' | 'stdout' | 'env'>): boolean {
  const { stdin, stdout, env } = streams;
  if (stdin.isTTY !== true || stdout.isTTY !== true) return false;
  return env['TERM'] !== 'dumb' && env['INK_SCREEN_READER'] !== 'true';
}

/** The question is visible, and typed text arrives. */
export function canAsk({ stdin, stderr }: Pick<Streams, 'stdin' | 'stderr'>): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** FORCE_COLOR decides, else NO_COLOR (no-color.org), else whether the stream is a terminal. */
export function wantsColour(stream: { readonly isTTY?: boolean }, env: Streams['env']): boolean {
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

/** More than ASCII. The first locale variable that is set decides, as in setlocale(3). */
export function speaksUnicode(env: Streams['env'], platform: NodeJS.Platform = process.platform): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'];
  if (locale) return /utf-?8/iu.test(locale);
  return platform === 'darwin' || platform === 'win32';
}

/** 80 if a stream does not know its own width. */
export function columnsOf(stream: OutputStream): number {
  return stream.columns !== undefined && stream.columns > 0 ? stream.columns : 80;
}
