import { useApp, useInput, usePaste, useWindowSize } from 'ink';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import type { Intent, Mode } from './key-binding.ts';
import { intentOf } from './keymap.ts';
import { keyOf } from './keys.ts';
import { isTooSmall, layOut } from './layout.ts';
import { Screen } from './screen.tsx';
import type { Look } from './span.ts';
import type { Store } from './store.ts';
import { modeOf } from './ui-state.ts';

export interface AppProps {
  readonly store: Store;
  readonly look: Look;
  /** Gets the function that gives the terminal away for a while, as soon as there is one. */
  readonly onReady?: (suspend: ReturnType<typeof useApp>['suspendTerminal']) => void;
}

/** Where a key may answer a question. */
const ANSWERS: ReadonlySet<Mode> = new Set<Mode>(['choice', 'ways', 'input', 'reason', 'reading', 'picker']);

/**
 * The only component with a life of its own: it connects the store, the keyboard and the size of the window.
 */
export function App({ store, look, onReady }: AppProps) {
  const state = useSyncExternalStore(store.subscribe, store.state);
  const { columns, rows } = useWindowSize();
  const { suspendTerminal } = useApp();
  const size = useMemo(() => ({ columns, rows }), [columns, rows]);
  const layout = useMemo(() => layOut(state, size, look), [state, size, look]);

  const press = (key: string, intent: Intent | undefined, text: string | undefined) => {
    if (intent !== undefined) store.dispatch({ type: 'intent', intent, key, page: layout.page });
    else if (text !== undefined && !isTooSmall(size)) store.dispatch({ type: 'text', text, key });
    else store.dispatch({ type: 'key', key });
  };
  useInput((input, key) => {
    const stroke = keyOf(input, key);
    if (stroke === undefined) return press('unnamed', undefined, undefined);
    if (stroke.kind === 'chunk') return press('chunk', undefined, stroke.text);
    const mode = modeOf(store.state());
    // What cannot be read cannot be answered, but it can be left.
    const intent = intentOf(isTooSmall(size) && ANSWERS.has(mode) ? 'watch' : mode, stroke.key);
    press(stroke.key, intent, stroke.text);
  });
  // Mounted always: only then does Ink ask the terminal to mark pastes, and a paste is never taken for keys.
  usePaste((text) => press('paste', undefined, text));
  useEffect(() => onReady?.(suspendTerminal), [onReady, suspendTerminal]);

  return <Screen layout={layout} size={size} look={look} />;
}
