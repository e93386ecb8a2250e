/** What a strict reader of the HTML found: every element in its order, and the text of each table row. */
export interface ReadHtml {
  readonly elements: readonly { readonly name: string; readonly attributes: ReadonlyMap<string, string> }[];
  readonly rows: readonly (readonly string[])[];
  readonly text: string;
}

const VOID = ['meta', 'br', 'hr', 'img', 'input', 'link'];
const TOKEN =
  /<!DOCTYPE html>|<\/(?<end>[a-z][a-z0-9]*)>|<(?<start>[a-z][a-z0-9]*)(?<attributes>(?: [a-zA-Z0-9-]+(?:="[^"<>]*")?)*)(?<closed>\/?)>|(?<text>[^<]+)/gy;

/**
 * Reads HTML as strictly as XML: throws for a tag that is not closed in its order, a stray `<`, or an
 * attribute without quotes.
 */
export function readHtml(html: string): ReadHtml {
  const open: string[] = [];
  const elements: { name: string; attributes: Map<string, string> }[] = [];
  const rows: string[][] = [];
  let text = '';
  let at = 0;
  for (const { groups = {}, 0: token } of html.matchAll(TOKEN)) {
    at += token.length;
    const { start, end, attributes = '', closed, text: words } = groups;
    if (start !== undefined) {
      const found = attributes.matchAll(/ (?<name>[a-zA-Z0-9-]+)(?:="(?<value>[^"]*)")?/gu);
      elements.push({
        name: start,
        attributes: new Map(
          [...found].map(({ groups: one }) => [one?.['name'] ?? '', plainText(one?.['value'] ?? '')]),
        ),
      });
      if (!VOID.includes(start) && closed !== '/') open.push(start);
      if (start === 'tr') rows.push([]);
      if (start === 'td' || start === 'th') rows.at(-1)?.push('');
    }
    if (end !== undefined && open.pop() !== end) throw new Error(`</${end}> closes what it did not open`);
    if (words !== undefined && open.at(-1) !== 'style') {
      text += plainText(words);
      const row = rows.at(-1);
      const inCell = open.includes('td') || open.includes('th');
      if (row !== undefined && inCell) row[row.length - 1] += plainText(words);
    }
  }
  if (at !== html.length) throw new Error(`not HTML at ${at}: ${html.slice(at, at + 60)}`);
  if (open.length > 0) throw new Error(`never closed: ${open.join(', ')}`);
  return { elements, rows, text };
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

function plainText(html: string): string {
  return html.replace(/&(?:#(\d+)|(\w+));/gu, (all, code: string | undefined, name: string | undefined) =>
    code === undefined ? (NAMED[name ?? ''] ?? all) : String.fromCharCode(Number(code)),
  );
}
