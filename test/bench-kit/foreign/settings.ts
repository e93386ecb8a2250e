import { type Answer, ok, refused } from './call.ts';
import type { Asked } from './route.ts';
import { MIN_KEY_LENGTH } from './spell.ts';

export const KEY_TOO_SHORT = refused(
  422,
  'invalidParameters',
  `encryption_key must have ${MIN_KEY_LENGTH} characters`,
);

export function isKey(value: unknown): value is string {
  return typeof value === 'string' && value.length >= MIN_KEY_LENGTH;
}

/** Endpoint 9: all of it or nothing. What can only be read is not looked at. */
export function changeSettings({ instance, body }: Asked): Answer {
  const key = body['encryption_key'];
  if (key !== undefined && !isKey(key)) return KEY_TOO_SHORT;
  const wrong = Object.entries(RULES).find(
    ([field, fits]) => body[field] !== undefined && !fits(body[field]),
  );
  if (wrong !== undefined) return refused(422, 'invalidParameters', `${wrong[0]} is not valid`);
  if (key !== undefined) instance.keys.push(key);
  for (const field of Object.keys(RULES)) {
    if (body[field] !== undefined) Object.assign(instance.settings, { [field]: body[field] });
  }
  return ok({ message: 'Backups configuration updated.' });
}

const isCount = (value: unknown) => Number.isInteger(value) && Number(value) >= 0;

const RULES: Readonly<Record<string, (value: unknown) => boolean>> = {
  min_backup_count: isCount,
  retention_time: isCount,
  exclude_from_auto_backup: (value) => typeof value === 'boolean',
};
