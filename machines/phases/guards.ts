import type { RunContext } from '../context.ts';

/** A guard with its name in words, which pictures and the table of states in a bundle show. */
export function when(words: string, holds: (context: RunContext) => boolean) {
  return named(words, ({ context }: { readonly context: RunContext }) => holds(context));
}

/** Like `when`, for a guard that also reads the event. */
export function whenEvent<Event>(words: string, holds: (context: RunContext, event: Event) => boolean) {
  return named(words, ({ context, event }: { readonly context: RunContext; readonly event: Event }) =>
    holds(context, event),
  );
}

function named<Guard>(words: string, guard: Guard): Guard {
  return Object.defineProperty(guard, 'name', { value: words });
}
