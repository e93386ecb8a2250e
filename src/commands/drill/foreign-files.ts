import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The files of a drill by their paths in its folder, including those still being written. */
const FILES =
  /^(?:drill\.(?:json|lock(?:-journal)?)|lifeboat\.db(?:-\w+)?|(?:reports\/[0-9A-Z]{26}\/)?report\.(?:html|json|md))(?:\.\d+)?$/u;
/** Its folders in which people neither read nor sign anything. */
const CLOSED = /^(?:backups|checkpoints|fallback|last-seen|locks|stores|transcripts)$/u;
/** Folders that people do use: a scan of a signed report may be beside the report. */
const OPEN = /^reports(?:\/[0-9A-Z]{26})?$/u;

/**
 * What is in the folder of a drill, or in the remains of one, and was not made by a drill: paths relative to
 * the folder. An unreadable folder counts as foreign.
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
