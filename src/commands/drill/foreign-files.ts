import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The files of a drill by their paths in its folder, also those that are still being written. */
const FILES =
  /^(?:drill\.(?:json|lock(?:-journal)?)|lifeboat\.db(?:-\w+)?|(?:reports\/[0-9A-Z]{26}\/)?report\.(?:html|json|md))(?:\.\d+)?$/u;
/** Its folders in which nobody has anything to read or to sign. */
const CLOSED = /^(?:backups|checkpoints|fallback|last-seen|locks|stores|transcripts)$/u;
/** Those in which somebody has: a scan of a signed report may lie beside the report. */
const OPEN = /^reports(?:\/[0-9A-Z]{26})?$/u;

/**
 * What lies in the folder of a drill, or in what is left of one, and was not made by a drill: its paths from
 * there. A folder that cannot be read counts as that.
 */
export function foreignIn(folder: string, below = '.'): readonly string[] {
  try {
    return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((one) => {
      const path = below === '.' ? one.name : `${below}/${one.name}`;
      if (one.isDirectory() && OPEN.test(path)) return foreignIn(folder, path);
      return (one.isDirectory() ? CLOSED.test(path) : one.isFile() && FILES.test(path)) ? [] : [path];
    });
  } catch {
    return [below];
  }
}
