import type { EventEmitter } from 'node:events';

/**
 * Escape alone, and with a key that would otherwise take the answer or end the prompt: readline gives Escape
 * and a key that comes within half a second as one key with Alt, of which Ctrl-C and Enter then know nothing.
 */
const LEADS_OUT = /^\u001b+[\u0003\u0004\r\n]?$/u;

/**
 * Asks on a terminal, and leaves by Escape as by Ctrl-C: `ask` gets a signal for its prompt, which ends when
 * Escape is pressed there, or with the signal given. Listens no longer than the prompt stands.
 */
export async function leaveByEscape<Answer>(
  stdin: EventEmitter,
  ask: (signal: AbortSignal) => Promise<Answer>,
  signal?: AbortSignal,
): Promise<Answer> {
  const escaped = new AbortController();
  const hear = (_text: unknown, key?: { readonly sequence?: string }) => {
    if (LEADS_OUT.test(key?.sequence ?? '')) escaped.abort();
  };
  // Before the prompt listens: what Escape came with is no answer any more.
  stdin.on('keypress', hear);
  try {
    return await ask(signal === undefined ? escaped.signal : AbortSignal.any([signal, escaped.signal]));
  } finally {
    stdin.off('keypress', hear);
  }
}
