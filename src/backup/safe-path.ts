/**
 * The parts of an entry's path below the folder it is unpacked into; none for the folder itself. Undefined
 * for a path that is absolute, climbs with `..`, or holds a NUL.
 */
export function entryPath(name: string): readonly string[] | undefined {
  if (name === '' || name.startsWith('/') || name.includes('\0')) return undefined;
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? undefined : parts;
}

/**
 * Whether a symlink at `parts` (path below the folder) can only lead into the folder: the target is relative,
 * climbs no higher than the folder, and climbs only at its beginning. A `..` behind a name could follow
 * another symlink first and climb from there.
 */
export function linkTargetStays(parts: readonly string[], target: string): boolean {
  if (target === '' || target.startsWith('/') || target.includes('\0')) return false;
  const steps = target.split('/').filter((step) => step !== '' && step !== '.');
  const names = steps.findIndex((step) => step !== '..');
  const climbs = names < 0 ? steps.length : names;
  return climbs < parts.length && !steps.slice(climbs).includes('..');
}
