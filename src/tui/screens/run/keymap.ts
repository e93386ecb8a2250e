import type { Binding, Intent, Mode } from './key-binding.ts';
import { ANSWERING } from './keys-answering.ts';
import { AROUND } from './keys-around.ts';
import { EDITING, PICKING } from './keys-fields.ts';
import { ENDING, LOOKING, TAKE_OVER, WATCHING } from './keys-looking.ts';

/**
 * Every key of the terminal UI, the most needed first. The footer, the help and the handling all come from
 * this table; nothing else names a key.
 */
export const KEYMAP: readonly Binding[] = [
  ...PICKING,
  ...ANSWERING,
  ...EDITING,
  ...ENDING,
  ...LOOKING,
  ...AROUND,
  ...WATCHING,
];

/** What a key means in a mode; nothing when it means nothing. */
export function intentOf(mode: Mode, key: string): Intent | undefined {
  return KEYMAP.find((binding) => binding.modes.includes(mode) && binding.keys.includes(key))?.intent;
}

/** The bindings for the footer of a mode, the most needed first. */
export function footerBindings(
  mode: Mode,
  {
    isPaused,
    hasCommand,
    hasWay,
    hasPalette,
    isFree,
  }: {
    readonly isPaused: boolean;
    readonly hasCommand: boolean;
    readonly hasWay: boolean;
    readonly hasPalette: boolean;
    readonly isFree: boolean;
  },
): readonly Binding[] {
  const isShown = {
    always: true,
    never: false,
    paused: isPaused,
    command: hasCommand,
    way: hasWay,
    palette: hasPalette,
    free: isFree,
  };
  return KEYMAP.filter(({ modes, onScreen }) => modes.includes(mode) && isShown[onScreen]);
}

/** The bindings for the help over a mode. */
export function bindingsIn(mode: Mode): readonly Binding[] {
  return KEYMAP.filter(({ modes, shown }) => shown !== '' && modes.includes(mode));
}

/**
 * The bindings for the documents: everything but the keys of what lies over a run, which says itself what
 * they do.
 */
export function helpBindings(): readonly Binding[] {
  const all = [...ANSWERING, ...ENDING, ...LOOKING, ...AROUND, ...EDITING, ...PICKING].filter(
    ({ modes, shown }) => shown !== '' && modes.some((mode) => !OVER_A_RUN.has(mode)),
  );
  return [...all, TAKE_OVER];
}

const OVER_A_RUN: ReadonlySet<Mode> = new Set<Mode>([
  'leave',
  'help',
  'fallback',
  'log',
  'log-filter',
  'step',
  'looking',
]);
