/** Elements that a report is made of; none of them loads or runs anything. */
const ELEMENTS =
  'html|head|meta|title|style|body|header|nav|main|section|footer|h1|h2|h3|p|ol|ul|li|dl|dt|dd|div|span|table|caption|thead|tbody|tr|th|td|figure|figcaption|details|summary|pre|code|strong|b|i|a|svg|desc|defs|g|path|rect|line|text|tspan|circle|polygon|polyline|pattern|clipPath|use|symbol|marker';
const ATTRIBUTES =
  /^(?:lang|charset|name|content|http-equiv|id|class|role|scope|tabindex|href|colspan|aria-[a-z]+|d|x|y|x1|x2|y1|y2|cx|cy|r|rx|ry|dx|dy|width|height|viewBox|points|transform|text-anchor|font-size|font-weight|dominant-baseline|clip-path|fill|stroke|xmlns|preserveAspectRatio|patternUnits|patternTransform|data-label)$/u;
/** Titles of columns, which are the report's own: no sign that could end or begin anything. */
const LABEL = /^[\w ,()-]*$/u;

/**
 * Whatever in a page is not of the report's own making, by its exact spelling: `<` begins one of its
 * elements, or it is escaped.
 */
export function strangeIn(html: string): string[] {
  const body = html.replace(/^<!DOCTYPE html>/u, '').replace(/<style>[^<]*<\/style>/u, '');
  return [...body.matchAll(/<[^>]*>?/gu)].flatMap(([tag]) => {
    const [, name, attributes = ''] =
      /^<\/?([A-Za-z0-9]+)((?:\s+[A-Za-z0-9:-]+(?:="[^"<>]*")?)*)\s*\/?>$/u.exec(tag) ?? [];
    if (name === undefined || !new RegExp(`^(?:${ELEMENTS})$`, 'u').test(name)) return [tag.slice(0, 100)];
    return [...attributes.matchAll(/([A-Za-z0-9:-]+)(?:="([^"]*)")?/gu)].flatMap(
      ([whole, attribute = '', value = '']) =>
        ATTRIBUTES.test(attribute) &&
        (attribute !== 'href' || value.startsWith('#')) &&
        (attribute !== 'data-label' || LABEL.test(value)) &&
        !/url\((?!#)|javascript:/iu.test(attribute === 'content' || attribute.startsWith('aria') ? '' : value)
          ? []
          : [whole.slice(0, 100)],
    );
  });
}
