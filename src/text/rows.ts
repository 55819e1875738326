/** A line as it is shown in a refusal: 1-based number, text without terminator, and whether the text was cut. */
export interface LineRow {
  readonly line: number
  readonly text: string
  readonly clipped: boolean
}
