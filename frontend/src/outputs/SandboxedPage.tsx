import classes from './Outputs.module.css';

// The page of a step must reach nothing: no script, no request, no form, not even a picture from elsewhere. The sandbox takes scripts,
// forms and the origin away, the policy the requests.
const policy =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; form-action 'none'; base-uri 'none'";

/** The page with the policy in front of all that it says itself. */
export const guarded = (html: string) =>
  `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">${html}`;

/** A web page that a step wrote, kept apart from this page and from the server. */
export function SandboxedPage({ html, title }: { html: string; title: string }) {
  return (
    <iframe className={classes.page} sandbox="" srcDoc={guarded(html)} title={title} referrerPolicy="no-referrer" />
  );
}
