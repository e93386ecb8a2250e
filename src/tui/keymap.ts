import type { Binding, Intent, Mode } from './key-binding.ts';
import { ANSWERING } from './keys-answering.ts';
import { AROUND } from './keys-around.ts';
import { PICKING } from './keys-picking.ts';

/**
 * Every key of the terminal UI, the most needed first. The footer, the help and the handling all come from
 * this table; nothing else names a key.
 */
export const KEYMAP: readonly Binding[] = [...PICKING, ...ANSWERING, ...AROUND];

/** What a key means in a mode; nothing when it means nothing. */
export function intentOf(mode: Mode, key: string): Intent | undefined {
  return KEYMAP.find((binding) => binding.modes.includes(mode) && binding.keys.includes(key))?.intent;
}

/** The bindings for the footer of a mode, the most needed first. */
export function footerBindings(mode: Mode, isPaused: boolean): readonly Binding[] {
  return KEYMAP.filter(
    ({ modes, onScreen }) =>
      modes.includes(mode) && (onScreen === 'always' || (onScreen === 'paused' && isPaused)),
  );
}

/**
 * The bindings for the help: everything but the keys of what lies over a run, which says itself what they do.
 */
export function helpBindings(): readonly Binding[] {
  return [...ANSWERING, ...AROUND, ...PICKING].filter(
    ({ modes, shown }) => shown !== '' && modes.some((mode) => !OVER_A_RUN.has(mode)),
  );
}

const OVER_A_RUN: ReadonlySet<Mode> = new Set<Mode>(['leave', 'help', 'fallback']);
