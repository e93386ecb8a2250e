import { useApp, useInput, usePaste, useWindowSize } from 'ink';
import { useEffect, useMemo, useSyncExternalStore } from 'react';
import { framesOf } from './frames.ts';
import type { Host } from './host.ts';
import { keyOf } from './keys.ts';
import { Screen } from './screen.tsx';

export interface AppProps {
  readonly host: Host;
  /** Gets the function that gives the terminal away for a while, as soon as there is one. */
  readonly onReady?: (suspend: ReturnType<typeof useApp>['suspendTerminal']) => void;
}

/**
 * The only component with a life of its own: it connects the stack of screens, the keyboard and the size of
 * the window.
 */
export function App({ host, onReady }: AppProps) {
  const { columns, rows } = useWindowSize();
  const { suspendTerminal } = useApp();
  const size = useMemo(() => ({ columns, rows }), [columns, rows]);
  const frameIn = useMemo(() => framesOf(host), [host]);
  const bands = useSyncExternalStore(host.subscribe, () => frameIn(size));

  useInput((input, key) => host.press(keyOf(input, key), size));
  // Mounted always: only then does Ink ask the terminal to mark pastes, and a paste is never taken for keys.
  usePaste((text) => host.paste(text, size));
  useEffect(() => onReady?.(suspendTerminal), [onReady, suspendTerminal]);

  return <Screen bands={bands} size={size} look={host.look} />;
}
