import { NotALogo } from './not-a-logo.ts';

const SVG = 'http://www.w3.org/2000/svg';

/** What draws. Elements that embed, animate or link are not among them. */
const ELEMENTS = new Set(
  `svg g path rect circle ellipse line polyline polygon text tspan title desc defs symbol use style
   linearGradient radialGradient stop clipPath mask pattern`.split(/\s+/u),
);

/** Where and how it is drawn, and the ids by which drawings refer to themselves. */
const ATTRIBUTES = new Set(
  `xmlns xml:space xml:lang version baseProfile id class style type lang viewBox preserveAspectRatio
   href x y x1 y1 x2 y2 cx cy r rx ry fx fy fr d dx dy points width height offset rotate pathLength
   textLength lengthAdjust transform transform-origin gradientTransform gradientUnits spreadMethod
   patternTransform patternUnits patternContentUnits clipPathUnits maskUnits maskContentUnits
   alignment-baseline baseline-shift clip clip-path clip-rule color color-interpolation
   color-interpolation-filters color-rendering direction display dominant-baseline enable-background fill
   fill-opacity fill-rule font font-family font-size font-stretch font-style font-variant font-weight
   image-rendering isolation kerning letter-spacing mask mask-type mix-blend-mode opacity overflow
   paint-order pointer-events shape-rendering solid-color solid-opacity stop-color stop-opacity stroke
   stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity
   stroke-width text-align text-anchor text-decoration text-rendering unicode-bidi vector-effect visibility
   white-space word-spacing writing-mode zoomAndPan`.split(/\s+/u),
);

/** The functions of CSS and of transformations that compute; every other one might load. */
const FUNCTIONS = new Set(
  'rgb rgba hsl hsla matrix translate translatex translatey rotate scale scalex scaley skewx skewy calc var'
    .split(' ')
    .concat(''),
);
/** From the beginning of a word only, so that a long one is read once. */
const CALL = /(?<![\w-])(?<name>[\w-]*)\(\s*(?:["']|&quot;|&apos;)?(?<first>.?)/gsu;

const SPACE = String.raw`[ \t\r\n]`;
const NAME = String.raw`[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?`;
const VALUE = `(?:"[^"<]*"|'[^'<]*')`;
const COMMENT = '<!--(?:(?!--).)*-->';
/** What stands before the drawing; a document type that declares anything is none of it. */
const PROLOG = new RegExp(
  String.raw`^${SPACE}*(?:<\?xml${SPACE}[^<>?]*\?>)?(?:${SPACE}|${COMMENT}|<!DOCTYPE${SPACE}[^<>\[\]]*>)*`,
  'su',
);
const TOKEN = new RegExp(
  [
    COMMENT,
    String.raw`<!\[CDATA\[(?<data>.*?)\]\]>`,
    `</(?<end>${NAME})${SPACE}*>`,
    `<(?<name>${NAME})(?<attributes>(?:${SPACE}+${NAME}${SPACE}*=${SPACE}*${VALUE})*)${SPACE}*(?<empty>/?)>`,
    '(?<text>[^<]+)',
  ].join('|'),
  'gsuy',
);
const ATTRIBUTE = new RegExp(`(?<key>${NAME})${SPACE}*=${SPACE}*(?<quoted>${VALUE})`, 'gu');
/** What is no character of XML. */
const FOREIGN = /[^\t\n\r -\ufffd\u{10000}-\u{10ffff}]/u;
/** What text may not hold: the end of a CDATA section, and a sign that begins none of the known entities. */
const MALFORMED = /\]\]>|&(?!(?:amp|lt|gt|quot|apos);)/u;

/**
 * The drawing in the bytes of an SVG: what draws, and nothing that loads or runs. What an editor keeps for
 * itself (metadata, elements and attributes of its own, comments, a plain document type) is left out. It is
 * read as strictly as a browser reads it, which would show a gap in place of what it cannot read. Throws
 * `NotALogo` for everything else.
 */
export function drawingIn(bytes: Uint8Array): string {
  const svg = decoded(bytes).replace(PROLOG, '').trimEnd();
  if (svg.startsWith('<!DOCTYPE')) throw new NotALogo('its DOCTYPE declares something');
  if (!/^<svg[\s/>]/u.test(svg)) throw new NotALogo('it is neither a PNG nor an SVG');
  const open: Open[] = [];
  const prefixes = new Set<string>();
  let drawing = '';
  // Put together first: what a comment divides is one for a browser.
  let sheet = '';
  let at = 0;
  for (const { 0: token, groups = {} } of svg.matchAll(TOKEN)) {
    const { end, text, data } = groups;
    const inside = open.at(-1);
    const isComment = token.startsWith('<!--');
    if (at > 0 && inside === undefined && !isComment) throw unread(at);
    let isLeftOut = inside?.isLeftOut === true || isComment;
    if (groups['name'] !== undefined) {
      const element = openedBy(groups, isLeftOut, prefixes, at);
      drawing += element.kept;
      if (groups['empty'] === '') open.push(element);
      isLeftOut = true;
    }
    if (end !== undefined && open.pop()?.name !== end) throw unread(at);
    if (text !== undefined && !isLeftOut && MALFORMED.test(text)) throw unread(at);
    if (inside?.name === 'style') sheet += text ?? data ?? '';
    if (!isLeftOut) drawing += token;
    at += token.length;
  }
  if (at < svg.length || open.length > 0 || FOREIGN.test(svg)) throw unread(at);
  refuseLoading(sheet, /[@\\]/u);
  return drawing;
}

/** An element that is not closed yet. */
interface Open {
  readonly name: string;
  readonly isLeftOut: boolean;
}

function unread(at: number): NotALogo {
  return new NotALogo(`it cannot be read after character ${at} of its svg element`);
}

function decoded(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new NotALogo('it is neither a PNG nor an SVG');
  }
}

/** The element that a tag begins, with what is kept of the tag. `prefixes` collects those that are SVG's. */
function openedBy(
  { name = '', attributes = '', empty = '' }: Readonly<Record<string, string | undefined>>,
  isInLeftOut: boolean,
  prefixes: Set<string>,
  at: number,
): Open & { readonly kept: string } {
  const read = Array.from(attributes.matchAll(ATTRIBUTE), ({ groups = {} }) => ({
    key: groups['key'] ?? '',
    quoted: groups['quoted'] ?? '',
  }));
  const values = new Map(read.map(({ key, quoted }) => [key, quoted.slice(1, -1)]));
  if (values.size < read.length) throw unread(at);
  for (const [key, value] of values) if (value === SVG) prefixes.add(key.replace(/^xmlns:/u, ''));
  const [prefix = '', local] = name.split(':');
  const isEditors = name === 'metadata' || (local !== undefined && !prefixes.has(prefix));
  if (isInLeftOut || isEditors) return { name, isLeftOut: true, kept: '' };
  if (!ELEMENTS.has(name)) throw new NotALogo(`it has the element ${name.slice(0, 40)}`);
  if ((values.get('xmlns') ?? (at === 0 ? '' : SVG)) !== SVG)
    throw new NotALogo('its xmlns is not that of SVG');
  const kept = read.map(({ key, quoted }) => keptOf(key, quoted, values.has('href'), at));
  return { name, isLeftOut: false, kept: `<${name}${kept.join('')}${empty}>` };
}

/** What is kept of an attribute: itself, or nothing where it is an editor's own. */
function keptOf(key: string, quoted: string, hasHref: boolean, at: number): string {
  const value = quoted.slice(1, -1);
  // Every browser knows the short name, and the long one would need its declaration.
  const name = key === 'xlink:href' && !hasHref ? 'href' : key;
  if (!ATTRIBUTES.has(name)) {
    if (EDITORS.test(name) && name !== 'xml:base') return '';
    throw new NotALogo(`it has the attribute ${name.slice(0, 40)}`);
  }
  if (name === 'href' && !value.startsWith('#')) throw new NotALogo(OUTSIDE);
  refuseLoading(value, /\\|&#/u);
  if (MALFORMED.test(value)) throw unread(at);
  return ` ${name}=${quoted}`;
}

/** Attributes of other name spaces, or of a page around the drawing. */
const EDITORS = /:|^(?:data|aria)-|^role$/u;

const OUTSIDE = 'it refers to something outside of itself';

/** `hiding` is what could hide a function from this. */
function refuseLoading(text: string, hiding: RegExp): void {
  const calls = Array.from(text.matchAll(CALL), ({ groups = {} }) => groups);
  const isInside = calls.every(({ name = '', first }) =>
    name.toLowerCase() === 'url' ? first === '#' : FUNCTIONS.has(name.toLowerCase()),
  );
  if (!isInside || hiding.test(text)) throw new NotALogo(OUTSIDE);
}
