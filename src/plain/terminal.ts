/** The streams a renderer may use, and the environment that says what they can do. */
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
 * Whether the full-screen UI can be used. Not without a terminal on both sides, not on a dumb one, and not
 * with a screen reader: lines that appear once and stay are easier to follow than a screen that changes under
 * the reader.
 */
export function canDraw(streams: Pick<Streams, 'stdin' | 'stdout' | 'env'>): boolean {
  const { stdin, stdout, env } = streams;
  if (stdin.isTTY !== true || stdout.isTTY !== true) return false;
  return env['TERM'] !== 'dumb' && env['INK_SCREEN_READER'] !== 'true';
}

/** Whether a person can be asked in lines: the question is visible, and typed text arrives. */
export function canAsk({ stdin, stderr }: Pick<Streams, 'stdin' | 'stderr'>): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/**
 * Whether to colour a stream: FORCE_COLOR decides, else NO_COLOR (no-color.org), else whether it is a
 * terminal.
 */
export function wantsColour(stream: { readonly isTTY?: boolean }, env: Streams['env']): boolean {
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if ((env['NO_COLOR'] ?? '') !== '') return false;
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

/**
 * Whether the locale can show more than ASCII. The first variable that is set decides, as in setlocale(3).
 */
export function speaksUnicode(env: Streams['env'], platform: NodeJS.Platform = process.platform): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'];
  if (locale) return /utf-?8/iu.test(locale);
  return platform === 'darwin' || platform === 'win32';
}

/** The width to draw into; 80 if a stream does not know its own. */
export function columnsOf(stream: OutputStream): number {
  return stream.columns !== undefined && stream.columns > 0 ? stream.columns : 80;
}
