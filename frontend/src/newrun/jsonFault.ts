/** A place in a text, both from 1. */
export interface Place {
  line: number;
  column: number;
}

const space = /[ \t\n\r]*/y;
const text = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/uy;
const plain = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])|(?:true|false|null)(?!\w)/y;

/** Where a text stops being JSON; undefined when it is JSON. Browsers say so in words of their own, or not at all. */
export function jsonFault(json: string): Place | undefined {
  let at = 0;
  const take = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(json);
    if (found) at = pattern.lastIndex;
    return Boolean(found);
  };
  const sign = (wanted: string) => {
    take(space);
    const there = json[at] === wanted;
    if (there) at++;
    return there;
  };
  const list = (end: string, member: () => boolean) => {
    if (sign(end)) return true;
    do {
      if (!member()) return false;
    } while (sign(','));
    return sign(end);
  };
  const named = () => {
    take(space);
    return take(text) && sign(':') && value();
  };
  const value = (): boolean => {
    take(space);
    if (sign('{')) return list('}', named);
    if (sign('[')) return list(']', value);
    return take(text) || take(plain);
  };
  const right = value();
  take(space);
  return right && at === json.length ? undefined : placeOf(json.slice(0, at));
}

function placeOf(before: string): Place {
  const lines = before.split('\n');
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}
