import type { Home } from '../view/app/home.ts';
import type { RunView } from '../view/run-view.ts';
import { band, type Layout, type Size } from './bands.ts';
import { createMask } from './mask.ts';
import { type Look, span } from './span.ts';

/** Whether names and ids are hidden on every screen, and how. */
export interface Presenting {
  isOn(): boolean;
  /** Turns it on or off, and gives what there is to say about it. */
  toggle(): string;
  text(text: string): string;
  cover(layout: Layout, size: Size, look: Look): Layout;
}

export interface PresentingOptions {
  readonly isOn: boolean;
  /** What the config says; undefined as long as it is not read, and nothing can be shown then. */
  readonly home: () => Home | undefined;
  /** The run on the stack, as it was shown last. */
  readonly run: () => RunView | undefined;
  /** Whether nothing but a run is shown, so that no config is ever read. */
  readonly isRunAlone: boolean;
}

export function createPresenting({ isOn: isFirst, home, run, isRunAlone }: PresentingOptions): Presenting {
  const mask = createMask();
  let isOn = isFirst;
  const names = () => ({ home: home(), run: run() });
  return {
    isOn: () => isOn,
    toggle() {
      isOn = !isOn;
      return isOn ? 'names and ids are hidden on every screen' : 'names and ids are shown again';
    },
    text: (text) => (isOn ? mask.text(text, names()) : text),
    cover(layout, { columns, rows }, look) {
      if (!isOn) return layout;
      const known = names();
      if (known.home !== undefined || isRunAlone) return mask.cover(layout, known, look);
      const waiting = [span('  reading which names to hide', 'text.dim')];
      return { page: { height: 1, last: 0 }, bands: [band([waiting], columns, rows)] };
    },
  };
}
