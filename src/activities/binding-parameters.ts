import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { LifeboatError } from '../base/errors.ts';
import { makeFolderInside } from '../base/trusted-path.ts';
import { readPrivateFile, replacePrivateFile } from '../keys/private-file.ts';
import type { BindingParameters } from '../platform/platform.ts';

/** Where the parameters of a binding are kept, and a digest to verify them. */
export interface KeptParameters {
  readonly parametersFile: string;
  /** SHA-256 of the file's bytes, lower-case hex. */
  readonly parametersSha256: string;
}

const KIND = { name: 'file of binding parameters', mayBeLinkOrPipe: false };

/**
 * Keeps the parameters of an application's binding for the run, in a file that only its owner can read. The
 * same parameters produce the same file. When it resolves they are on disk, so the binding may be removed.
 * Rejects with `keys.io` and `trust.refused`.
 */
export async function keepParameters(
  folder: string,
  runId: string,
  key: string,
  parameters: BindingParameters,
): Promise<KeptParameters> {
  const own = join(dirname(folder), 'bindings', fileName(runId));
  makeFolderInside(dirname(folder), own);
  const bytes = Buffer.from(`${JSON.stringify(parameters)}\n`);
  const parametersFile = join(own, `${fileName(key)}.json`);
  await replacePrivateFile(parametersFile, bytes);
  return { parametersFile, parametersSha256: sha256(bytes) };
}

/** Rejects with `binding.parameters-lost` if the file is missing or changed. */
export async function readParameters(
  kept: { readonly [Name in keyof KeptParameters]?: string | undefined },
): Promise<BindingParameters | undefined> {
  if (kept.parametersFile === undefined) return undefined;
  const bytes = await readPrivateFile(kept.parametersFile, KIND);
  if (bytes === undefined) throw lost('is gone', kept.parametersFile);
  if (kept.parametersSha256 !== undefined && sha256(bytes) !== kept.parametersSha256) {
    throw lost('was changed since it was written', kept.parametersFile);
  }
  try {
    return JSON.parse(bytes.toString('utf8')) as BindingParameters;
  } catch {
    throw lost('cannot be read', kept.parametersFile);
  }
}

/** A name from the platform must not lead out of the folder or collide with another. */
function fileName(name: string): string {
  if (/^[\w][\w.-]{0,80}$/u.test(name)) return name;
  const plain = name.replace(/[^\w.-]+/gu, '_').slice(0, 40);
  return `_${plain}-${sha256(Buffer.from(name)).slice(0, 12)}`;
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function lost(why: string, file: string): LifeboatError {
  return new LifeboatError('binding.parameters-lost', `the file with the parameters of the binding ${why}`, {
    hints: [
      'nothing was bound: without them the application might get a binding that it cannot use',
      'bind it by hand with its parameters (cf bind-service … -c FILE), then say that it is done',
    ],
    evidence: { file },
  });
}
