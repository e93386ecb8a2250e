import type { CommandContext } from '../context.ts';

/** TODO(places) */
export async function newestInPlaces(
  _context: CommandContext,
  _origin: string | undefined,
): Promise<readonly { readonly name: string; readonly newest: string }[]> {
  return [];
}
