import { Box, render, useApp, useInput, usePaste, useWindowSize } from 'ink';
import { createElement, memo, useEffect, useMemo, useSyncExternalStore } from 'react';
import { show } from '../base/text.ts';
import { type Streams, wantsColour } from '../plain/terminal.ts';
import { type MomentReader, momentReader } from '../view/moment-reader.ts';
import { LEFT, leftBySignal } from '../view/run-port.ts';
import { RESTORE_TITLE, SAVE_TITLE } from './attention.ts';
import type { Band, Layout, Pane, Size } from './bands.ts';
import { GIVE_SCREEN_BACK, hidesNames } from './first-frame.ts';
import { glyphsFor } from './glyphs.ts';
import { createHost, type Host, type HostOptions } from './host.ts';
import { keyOf } from './keys.ts';
import { type Line, type Look, TEXT_LIMIT } from './span.ts';
import { painted, paintOf, themeFor } from './theme.ts';
import { readKeys, watchReading, watchTerminal } from './watch-terminal.ts';

/**
 * Enters and clears the alternate screen; terminals that support it delay this until Ink's first frame.
 * Enters it here too, because not every way to the screen begins with a first frame, and the normal screen
 * must never be erased.
 */
const CLEAR_FIRST_FRAME = '\u001b[?2026h\u001b[?1049h\u001b[H\u001b[J';

export interface TakeOptions {
  readonly now?: (() => number) | undefined;
  readonly readMoment?: MomentReader | undefined;
  readonly app?: HostOptions['app'];
  /** Puts the first screen on the stack; the terminal is also given back when this resolves. */
  readonly show: (host: Host) => Promise<unknown>;
}

/**
 * Takes the terminal until the last screen is closed or left: by the operator, by SIGTERM, SIGHUP or SIGINT,
 * or because the terminal is gone. By then the screens have released what they hold.
 * Always restores the terminal, also when it rejects (with what broke the screen, or `show`). Gives whether
 * it can still be written to, and whether the last screen was left rather than closed.
 */
export async function takeScreen(
  streams: Streams,
  options: TakeOptions,
): Promise<{ readonly isLost: boolean; readonly isLeft: boolean }> {
  const { stdin, stdout, stderr, env } = streams;
  const done = Promise.withResolvers<'left' | 'closed' | 'lost'>();
  let left: string | undefined;
  let suspendInk: Parameters<NonNullable<AppProps['onReady']>>[0] | undefined;
  // While the UI is suspended, the window has its earlier title.
  const suspend = async () => {
    stdout.write(RESTORE_TITLE);
    const suspension = await suspendInk?.();
    return {
      resume: async () => {
        // A key echoed where Ink is about to draw would shift its first row, and everything below.
        (stdin as { setRawMode?(isRaw: boolean): unknown }).setRawMode?.(true);
        stdout.write(`${SAVE_TITLE}${CLEAR_FIRST_FRAME}`);
        await suspension?.resume();
        host.retitle();
      },
    };
  };
  const lend = async <T,>(act: () => Promise<T>): Promise<T> => {
    const suspension = await suspend();
    await letGoOf(stdin);
    try {
      return await act();
    } finally {
      await suspension.resume();
      stdin.read(0);
    }
  };
  const now = options.now ?? (() => performance.now());
  const reading = watchReading(now);
  const host = createHost({
    look: { glyphs: glyphsFor(env), colour: wantsColour(stdout, env), theme: themeFor(env) },
    now: () => new Date(),
    monotonic: now,
    reading: options.now === undefined ? reading : undefined,
    readMoment: options.readMoment ?? momentReader,
    write: (bytes) => void stdout.write(bytes),
    lend,
    isLoud: env['LIFEBOAT_BELL'] !== 'off',
    hidesNames: hidesNames(env),
    suspend: () => void process.kill(process.pid, 'SIGTSTP'),
    onDone: done.resolve,
    app: options.app,
  });
  const terminal = watchTerminal(streams, {
    onLost: () => {
      left ??= LEFT.terminalLost;
      done.resolve('lost');
    },
    onSignal: (signal) => {
      left ??= leftBySignal(signal);
      done.resolve('left');
    },
    suspend,
  });
  // Save the title before the first screen names the window.
  stdout.write(SAVE_TITLE);
  const shown = options.show(host).then(() => 'closed' as const);
  // The wait below reports this error; if the screen breaks first, the error is ignored.
  shown.catch(() => undefined);
  let isBroken = true;
  let isLeft = false;
  try {
    stdout.write(CLEAR_FIRST_FRAME);
    const ink = render(<App host={host} onReady={(given) => (suspendInk = given)} />, {
      stdin: readKeys(stdin),
      stdout,
      stderr,
      alternateScreen: true,
      incrementalRendering: true,
      exitOnCtrlC: false,
      patchConsole: false,
      maxFps: 15,
      interactive: true,
    });
    // An earlier line prompt may have left stdin with listeners but not reading; a read of 0 bytes makes Node
    // read again.
    const listening = setImmediate(() => stdin.read(0));
    try {
      isLeft = (await Promise.race([done.promise, ink.waitUntilExit(), shown])) === 'left';
      isBroken = false;
    } finally {
      clearImmediate(listening);
      ink.unmount();
      await ink.waitUntilExit().catch(() => {});
      if (!terminal.isLost()) stdout.write(RESTORE_TITLE);
    }
  } finally {
    reading.stop();
    if (isBroken) {
      if (!terminal.isLost()) stdout.write(GIVE_SCREEN_BACK);
      // The original error matters more than a second one while leaving.
      await host.leave(LEFT.screenBroke).catch(() => {});
      host.stop();
    }
    terminal.stop();
  }
  await host.leave(left ?? LEFT.byOperator);
  host.stop();
  return { isLost: terminal.isLost(), isLeft };
}

/**
 * Ends Node's pending read: another program would lose the first line typed to it. Node ends it only when the
 * stream goes from flowing to paused.
 */
async function letGoOf(stdin: Streams['stdin']): Promise<void> {
  stdin.resume();
  stdin.pause();
  await new Promise((resolve) => setImmediate(resolve));
}

interface AppProps {
  readonly host: Host;
  /** Receives the function that gives up the terminal for a while, as soon as it exists. */
  readonly onReady?: (suspend: ReturnType<typeof useApp>['suspendTerminal']) => void;
}

/** Connects the stack of screens with the keyboard and the window size. */
export function App({ host, onReady }: AppProps) {
  const { columns, rows } = useWindowSize();
  const { suspendTerminal } = useApp();
  const size = useMemo(() => ({ columns, rows }), [columns, rows]);
  const frameIn = useMemo(() => framesOf(host), [host]);
  const bands = useSyncExternalStore(host.subscribe, () => frameIn(size));

  useInput((input, key) => host.press(keyOf(input, key), size));
  // Always mounted: only then does Ink ask the terminal to mark pastes, so that no paste is taken for keys.
  usePaste((text) => host.paste(text, size));
  useEffect(() => onReady?.(suspendTerminal), [onReady, suspendTerminal]);

  return <Screen bands={bands} size={size} look={host.look} />;
}

/**
 * Draws bands that fill the terminal exactly. When the window shrinks, Ink draws the old content once more,
 * and the terminal would wrap a row that is too long and shift everything below it.
 */
function Screen({ bands, size, look }: { bands: readonly Band[]; size: Size; look: Look }) {
  return (
    <Box width="100%" overflow="hidden">
      <Box flexDirection="column" width={size.columns} height={size.rows} flexShrink={0} overflow="hidden">
        {bands.map((band, at) => (
          <BandBox key={placeKey(at)} band={band} look={look} />
        ))}
      </Box>
    </Box>
  );
}

const BandBox = memo(({ band, look }: { band: Band; look: Look }) => (
  <Box height={band.height} flexShrink={0}>
    {band.panes.map((pane, column) => (
      <PaneBox key={placeKey(column)} pane={pane} look={look} />
    ))}
  </Box>
));

const PaneBox = memo(({ pane, look }: { pane: Pane; look: Look }) => (
  <Box flexDirection="column" width={pane.width} height={pane.height} flexShrink={0} overflow="hidden">
    {pane.lines.map((line, at) => (
      <Row key={placeKey(at)} line={line} look={look} width={pane.width} />
    ))}
  </Box>
));

/**
 * One text node for each row, because Ink computes a layout for every text. It is the element below Ink's
 * `Text`, without its measuring and styling: the row is styled and has its width already.
 */
const Row = memo(({ line, look, width }: { line: Line; look: Look; width: number }) =>
  createElement(
    'ink-text',
    { style: { textWrap: 'truncate-end', width, height: 1, flexShrink: 0 } },
    line.length === 0 ? ' ' : line.map((piece) => printed(piece, look)).join(''),
  ),
);

/**
 * The only place where text enters the Ink tree: it passes colours and links on, so all is made printable.
 */
function printed({ text, token }: Line[number], look: Look): string {
  return painted(show(text, TEXT_LIMIT), paintOf(token, look.colour, look.theme));
}

/** Rows and cells are identified by position. */
function placeKey(at: number): string {
  return `at-${at}`;
}

interface Drawn {
  /** Changes whenever the drawn content may have changed. */
  version(): number;
  layOut(size: Size): Layout;
}

/** Parts equal to the previous frame's are reused, so that React does not draw them again. */
export function framesOf(drawn: Drawn): (size: Size) => readonly Band[] {
  let last: { readonly version: number; readonly size: Size; readonly bands: readonly Band[] } | undefined;
  return (size) => {
    const version = drawn.version();
    if (last?.version !== version || last.size !== size)
      last = { version, size, bands: kept(last?.bands, drawn.layOut(size).bands, keptBand) };
    return last.bands;
  };
}

function keptBand(before: Band | undefined, after: Band): Band {
  const panes = kept(before?.panes, after.panes, keptPane);
  return before?.height === after.height && before.panes === panes ? before : { ...after, panes };
}

function keptPane(before: Pane | undefined, after: Pane): Pane {
  const lines = kept(before?.lines, after.lines, keptLine);
  const isSame = before?.lines === lines && before.width === after.width && before.height === after.height;
  return isSame ? before : { ...after, lines };
}

function keptLine(before: Line | undefined, after: Line): Line {
  const isSame =
    before?.length === after.length &&
    before.every(({ text, token }, at) => text === after[at]?.text && token === after[at]?.token);
  return isSame ? before : after;
}

/** Replaces each part by the previous one if both look the same; returns the previous list if all do. */
function kept<Part>(
  before: readonly Part[] | undefined,
  after: readonly Part[],
  keptPart: (before: Part | undefined, after: Part) => Part,
): readonly Part[] {
  const parts = after.map((part, at) => keptPart(before?.[at], part));
  const isSame = before?.length === parts.length && parts.every((part, at) => part === before[at]);
  return isSame ? before : parts;
}
