import { show } from '../../base/text.ts';

/** Where an instance answers, and how a person gets at it. */
export interface FallbackInstance {
  /** As in the config. */
  readonly name: string;
  /** The dashboard address, or its V1 form. */
  readonly url: string;
  readonly revision: 61 | 62 | 'v0';
  /** PEM file with further certificate authorities. */
  readonly ca?: string;
  /** In words, or the command that prints it: `cf oauth-token`. */
  readonly tokenHow: string;
}

/** The instance of a run, and the one that a recovery goes into. */
export interface FallbackInstances {
  readonly instance: FallbackInstance;
  readonly target?: FallbackInstance;
}

/** Both addresses of an instance, without a slash at the end (service-api.md section 4). */
export function basesOf({ url }: FallbackInstance): { readonly v1: string; readonly v0: string } {
  const clean = show(url, 2_000).replace(/\/+$/u, '');
  const found = /^(?<before>.*)\/(?:service-instances|v1\/instances)\/(?<id>[^/]*)$/u.exec(clean)?.groups;
  if (found === undefined) return { v1: clean, v0: clean };
  return {
    v1: `${found['before']}/v1/instances/${found['id']}`,
    v0: `${found['before']}/service-instances/${found['id']}`,
  };
}

/** In which order the ways to a download are tried (service-api.md section 4.3), as the client tries them. */
export const DOWNLOAD_WAYS: Readonly<
  Record<FallbackInstance['revision'], readonly ('v1' | 'v0' | 'v0-post')[]>
> = {
  61: ['v1', 'v0', 'v0-post'],
  62: ['v0', 'v1', 'v0-post'],
  v0: ['v0', 'v0-post', 'v1'],
};
