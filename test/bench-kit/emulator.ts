import xterm from '@xterm/headless';
import { pictureOf } from '../docs/screen-picture.ts';

export interface Size {
  readonly cols: number;
  readonly rows: number;
}

/** What stands on a screen, by the emulator that editors use. */
export interface Emulator {
  /** `done` is called when the screen shows it. */
  write(data: string | Uint8Array, done?: () => void): void;
  /** The rows that are to be seen. */
  rows(): string[];
  /** What can be read, in the scrollback too. */
  text(): string;
  /** What stands on the screen, as an SVG image. */
  picture(): string;
  /** Whether a full-screen program has the screen. */
  isTaken(): boolean;
  resize(size: Size): void;
}

/** `raw`: what is written comes from a program and not from a terminal, which would add the returns. */
export function openEmulator(size: Size, { raw = false } = {}): Emulator {
  const terminal = new xterm.Terminal({ ...size, scrollback: 1000, convertEol: raw, allowProposedApi: true });
  const lines = (from: number, count: number) =>
    Array.from(
      { length: count },
      (_, row) => terminal.buffer.active.getLine(from + row)?.translateToString(true, 0, terminal.cols) ?? '',
    );
  return {
    write: (data, done) => terminal.write(data, done),
    rows: () => lines(terminal.buffer.active.viewportY, terminal.rows),
    text: () => lines(0, terminal.buffer.active.length).join('\n'),
    picture: () => pictureOf(terminal.buffer.active, { cols: terminal.cols, rows: terminal.rows }),
    isTaken: () => terminal.buffer.active.type === 'alternate',
    resize: ({ cols, rows }) => terminal.resize(cols, rows),
  };
}
