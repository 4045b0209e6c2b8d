"""Maps for a browser by folium, of features of GeoJSON."""

from typing import Any

from .. import lazy

#: The colours of features, from the least value to the greatest.
_COLOURS = ("#440154", "#21918c", "#fde725")


def explored(features: list[dict[str, Any]], column: str | None = None) -> Any:
    """Return a map with features, coloured by a property if one is named, which shows their properties."""
    folium = lazy.optional("folium", "explore()")
    shown = folium.Map()
    drawn = [each for each in features if each["geometry"] and each["geometry"]["coordinates"]]
    if not drawn:
        return shown
    colour = None
    if column is not None:
        values = [each["properties"][column] for each in drawn]
        colour = folium.LinearColormap(_COLOURS, vmin=min(values), vmax=max(max(values), min(values) + 1))

    def style(feature: dict[str, Any]) -> dict[str, Any]:
        name = "#d62728" if colour is None else colour(feature["properties"][column])
        return {"color": name, "fillColor": name, "fillOpacity": 0.4}

    tooltip = folium.GeoJsonTooltip(list(drawn[0]["properties"]))
    layer = folium.GeoJson({"type": "FeatureCollection", "features": drawn}, style_function=style, tooltip=tooltip)
    layer.add_to(shown)
    shown.fit_bounds(layer.get_bounds())
    return shown
