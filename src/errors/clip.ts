/** Shortens what a refusal quotes from the caller. Called by the error table and by whatever builds its parameters. */

/** At most `units` UTF-16 units of `text` from its start; a surrogate pair is never split. */
export function clipText(text: string, units: number): string {
  if (text.length <= units) return text
  const last = text.charCodeAt(units - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? units - 1 : units)
}

/** Like `clipText`, with `…` where something was left out. */
export function quoteText(text: string, units: number): string {
  return text.length <= units ? text : `${clipText(text, units)}…`
}
