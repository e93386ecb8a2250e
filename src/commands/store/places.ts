import type { CommandContext } from '../../cli/context.ts';

/** How far a place for checkpoints reaches. */
export interface PlaceReached {
  readonly name: string;
  /** The size of its newest checkpoint of this log; undefined where it has none, or cannot be asked. */
  readonly size: number | undefined;
  /** For a person. */
  readonly newest: string;
}

/**
 * The newest checkpoint of a log in each place; its signature is for `lifeboat audit verify` and `doctor` to
 * check.
 */
export async function newestInPlaces(
  context: CommandContext,
  origin: string | undefined,
): Promise<readonly PlaceReached[]> {
  const { placesHere } = await import('../../compose/checkpoint-places.ts');
  const places = await placesHere(context);
  return Promise.all(
    places.map(async (place) => {
      const look = await place.look({ origin, beyond: Number.MAX_SAFE_INTEGER, most: 1 });
      if (look.result === 'down')
        return { name: place.name, size: undefined, newest: `cannot be read: ${look.why}` };
      if (look.result === 'write-only')
        return { name: place.name, size: undefined, newest: 'is only written to' };
      const size = look.notes[0]?.size;
      return { name: place.name, size, newest: size === undefined ? 'none' : `of ${size} entries` };
    }),
  );
}
