import type { RunContext } from '../context.ts';

/** Names a guard; pictures and the table of states in a bundle show the name. */
export function when(words: string, holds: (context: RunContext) => boolean) {
  return named(words, ({ context }: { readonly context: RunContext }) => holds(context));
}

export function whenEvent<Event>(words: string, holds: (context: RunContext, event: Event) => boolean) {
  return named(words, ({ context, event }: { readonly context: RunContext; readonly event: Event }) =>
    holds(context, event),
  );
}

function named<Guard>(words: string, guard: Guard): Guard {
  return Object.defineProperty(guard, 'name', { value: words });
}
