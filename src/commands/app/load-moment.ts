import type { TypedMoment } from '../../view/app/sources.ts';

/** Reads a moment of the past; the parser of dates is loaded with the first one. */
export async function loadMoment(text: string): Promise<TypedMoment> {
  const { readMoment } = await import('../../view/moment.ts');
  const now = new Date();
  const read = readMoment(text, { now, earliest: new Date(0), latest: now });
  return 'time' in read ? { time: read.time.toISOString() } : read;
}
