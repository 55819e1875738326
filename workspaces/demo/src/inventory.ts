export interface Item {
  sku: string
  name: string
  quantity: number
  reorderAt: number
}

/** Keeps the stock of one warehouse. */
export class Inventory {
  private readonly items = new Map<string, Item>()

  add(item: Item): void {
    const known = this.items.get(item.sku)
    if (known) {
      known.quantity += item.quantity
    } else {
      this.items.set(item.sku, { ...item })
    }
  }

  take(sku: string, quantity: number): void {
    const item = this.items.get(sku)
    if (!item) throw new Error(`unknown sku ${sku}`)
    item.quantity -= quantity
  }

  /** Items that have to be ordered again. */
  low(): Item[] {
    return [...this.items.values()].filter((item) => item.quantity < item.reorderAt)
  }
}
