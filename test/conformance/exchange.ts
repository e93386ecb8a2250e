/** One request and its answer, as far as it was read. */
export interface Exchange {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly sent: string | undefined;
  readonly status: number;
  /** Without parameters, in lower case; empty when the server sent none. */
  readonly contentType: string;
  readonly contentLength: number | undefined;
  /** The clock of the service in ms, from its Date header; whole seconds. */
  readonly date: number | undefined;
  readonly text: string;
  /** Undefined when the body is not JSON. */
  readonly json: unknown;
}

const SHOWN = 300;

/**
 * One line about an exchange for a report. Secrets are replaced wherever they stand, control characters and
 * marks that turn the direction of text are left out, and bodies are cut: the text is not trusted.
 */
export function excerptOf(exchange: Exchange, secrets: readonly string[]): string {
  const { method, path, sent, status, contentType, text } = exchange;
  const request = sent === undefined ? `${method} ${path}` : `${method} ${path} ${cut(mask(sent, secrets))}`;
  const kind = contentType === '' ? 'no content type' : contentType;
  return plain(`${mask(request, secrets)} -> ${status}, ${kind}: ${cut(mask(text, secrets))}`);
}

/** The text without any of the secrets, for whatever is printed. */
export function mask(text: string, secrets: readonly string[]): string {
  return secrets.reduce(
    (masked, secret) => (secret === '' ? masked : masked.replaceAll(secret, '[secret]')),
    text,
  );
}

/** One line without control and format characters. */
export function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ');
}

function cut(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
}
