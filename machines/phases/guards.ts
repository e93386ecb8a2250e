import type { RunContext } from '../context.ts';

/** A condition of a way, which its name puts into words: pictures and the table of a bundle show it. */
export function when(words: string, holds: (context: RunContext) => boolean) {
  return named(words, ({ context }: { readonly context: RunContext }) => holds(context));
}

/** The same, where the event decides as well; its type is checked where it is written. */
export function whenEvent<Event>(words: string, holds: (context: RunContext, event: Event) => boolean) {
  return named(words, ({ context, event }: { readonly context: RunContext; readonly event: Event }) =>
    holds(context, event),
  );
}

function named<Guard>(words: string, guard: Guard): Guard {
  return Object.defineProperty(guard, 'name', { value: words });
}
