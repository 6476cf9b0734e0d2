const storageKey = 'argosy-time-zone';

/** What a reader may choose instead of the browser's zone; undefined for anything that is no zone. */
function known(zone: string | null | undefined): string | undefined {
  if (!zone) return undefined;
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone });
    return zone;
  } catch {
    return undefined;
  }
}

function remembered(): string | undefined {
  try {
    return known(localStorage.getItem(storageKey));
  } catch {
    // Storage may be refused; the browser's zone then holds.
    return undefined;
  }
}

let chosen = remembered();

/** The zone in which times are written; undefined for the browser's. */
export const timeZone = () => chosen;

/** Writes times in another zone, or in the browser's again, and remembers the choice. */
export function chooseTimeZone(zone: string | undefined) {
  chosen = known(zone);
  try {
    if (chosen) localStorage.setItem(storageKey, chosen);
    else localStorage.removeItem(storageKey);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}
