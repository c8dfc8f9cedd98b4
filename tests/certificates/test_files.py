def rehashed(value):
    import hashlib, json
    rest = {key: item for key, item in value.items() if key != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return {**rest, "sha256": hashlib.sha256(text.encode("ascii")).hexdigest()}
